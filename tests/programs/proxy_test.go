package programs_test

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestModule makes a proxy of modules from the tree at a version, and builds the programs of the pages against it: what go get
// brings at a tag has all that they need. Other modules come from the cache of this machine. It compiles all of them, so it runs
// if LACONIC_RELEASE is set, as make snapshot does.
func TestModule(t *testing.T) {
	t.Parallel()
	if os.Getenv("LACONIC_RELEASE") == "" {
		t.Skip("LACONIC_RELEASE is not set")
	}
	const module, version = "github.com/laconic-go/laconic", "v0.1.0"
	root, proxy := filepath.Join("..", ".."), t.TempDir()
	versions := filepath.Join(proxy, module, "@v")
	require.NoError(t, os.MkdirAll(versions, 0o755))
	file := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.NotContains(t, string(mod), "\nreplace ")
	file("list", version+"\n")
	file(version+".mod", string(mod))
	file(version+".info", fmt.Sprintf("{%q: %q}", "Version", version))
	pack(t, root, filepath.Join(versions, version+".zip"), module+"@"+version+"/")

	cached := strings.TrimSpace(run(t, root, "go", "env", "GOMODCACHE"))
	user := t.TempDir()
	for name, code := range shown(t) {
		require.NoError(t, os.Mkdir(filepath.Join(user, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(user, name, "main.go"), []byte(code), 0o600))
	}
	env := []string{
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cached, "cache", "download"), "GOMODCACHE=" + t.TempDir(),
		"GONOSUMDB=*", "GOFLAGS=-modcacherw -trimpath -buildvcs=false", "GOWORK=off",
	}
	run(t, user, "go", append([]string{"mod", "init", "example.com/user"}, env...)...)
	run(t, user, "go", append([]string{"get", module + "@" + version}, env...)...)
	run(t, user, "go", append([]string{"get", "./..."}, env...)...)
	run(t, user, "go", append([]string{"build", "-o", os.DevNull, "./..."}, env...)...)
	used, err := os.ReadFile(filepath.Join(user, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(used), module+" "+version)
}

// run runs a command in a folder. Arguments with a name in capitals before = are variables of its environment.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	var rest, env []string
	for _, a := range args {
		if key, _, ok := strings.Cut(a, "="); ok && key == strings.ToUpper(key) {
			env = append(env, a)
			continue
		}
		rest = append(rest, a)
	}
	cmd := exec.CommandContext(t.Context(), name, rest...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, rest, out)
	return string(out)
}

// pack writes the files of the module that git knows, without those of other modules below it.
func pack(t *testing.T, root, path, prefix string) {
	t.Helper()
	var others []string
	files := strings.Split(strings.TrimSuffix(run(t, root, "git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00"), "\x00")
	for _, f := range files {
		if strings.HasSuffix(f, "/go.mod") {
			others = append(others, strings.TrimSuffix(f, "go.mod"))
		}
	}
	out, err := os.Create(path)
	require.NoError(t, err)
	defer out.Close() //nolint:errcheck // it is closed below
	z := zip.NewWriter(out)
next:
	for _, f := range files {
		for _, other := range others {
			if strings.HasPrefix(f, other) {
				continue next
			}
		}
		in, err := os.Open(filepath.Join(root, f))
		if os.IsNotExist(err) {
			continue // it is removed, but not yet in git
		}
		require.NoError(t, err)
		w, err := z.Create(prefix + f)
		require.NoError(t, err)
		_, err = io.Copy(w, in)
		require.NoError(t, err)
		require.NoError(t, in.Close())
	}
	require.NoError(t, z.Close())
	require.NoError(t, out.Close())
}
