package bpe

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"
	"github.com/stretchr/testify/require"
)

// TestVocabularies compares the embedded files with the sums that OpenAI's
// tiktoken gives for its own (tiktoken_ext/openai_public.py).
func TestVocabularies(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"o200k_base":  "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
		"cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
	} {
		file, err := assets.Assets.ReadFile(name + ".tiktoken")
		require.NoError(t, err)
		sum := sha256.Sum256(file)
		require.Equal(t, want, hex.EncodeToString(sum[:]), "%s is the file that OpenAI publishes", name)
	}
}
