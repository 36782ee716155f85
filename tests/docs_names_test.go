package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/testkit/race"
)

// foreignNames are names on the pages that belong to other modules, in packages that are called as ours.
var foreignNames = []string{
	"openai.New", "openai.OpenAI", "openai.WithHTTPClient", "openai.WithHTTPClientOptions", "openai.WithHTTPClientTransport", "openai.WithUseResponsesAPI",
	"react.NewAgent", "react.AgentConfig", "openai.NewChatModel", "openai.NewClient", "openai.DefaultConfig", "openai.ChatModelConfig", "openai.WithModel", "openai.WithCallback",
	"openai.FunctionParameters", "openai.FunctionDefinitionParam", "openai.ChatCompletionFunctionTool", "openai.ChatCompletionToolUnionParam", "openai.String",
	"Trigger.ContextTokens",
}

// docPages returns the paths of the pages in docs.
func docPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"../docs/*.md", "../docs/internals/*.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		pages = append(pages, found...)
	}
	return pages
}

// TestNamesOnPages checks that each name of this module on the pages exists: package.Name, package.Type.Field and
// Type.Field, in code.
func TestNamesOnPages(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	names := exportedNames(t)
	pages := docPages(t)
	pages = slices.DeleteFunc(pages, func(p string) bool { return strings.HasSuffix(p, "architecture.md") }) // see [TestArchitecturePage]
	pages = append(pages, "../README.md", "../README.zh-CN.md", "../CONTRIBUTING.md")
	code := regexp.MustCompile("(?s)```go\n.*?```|`[^`\n]+`")
	qualified := regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)(\.[A-Z]\w*)?`)
	field := regexp.MustCompile("(?:^`|[^.\\w])([A-Z]\\w*\\.[A-Z]\\w*)")
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, span := range code.FindAllString(string(text), -1) {
			for _, m := range qualified.FindAllStringSubmatch(span, -1) {
				if known := names[m[1]]; known != nil && !slices.Contains(foreignNames, m[1]+"."+m[2]) {
					checked++
					// What follows a name may be a field or a method of a type, or a method of the type of a constant.
					require.True(t, known[m[2]] && (m[3] == "" || names[""][m[3]]), "%s has %s, which does not exist", page, m[0])
				}
			}
			for _, m := range field.FindAllStringSubmatch(span, -1) {
				if strings.HasPrefix(span, "```") || slices.Contains(foreignNames, m[1]) {
					continue
				}
				checked++
				require.True(t, names[""][m[1]], "%s has %s, which no package has", page, m[1])
			}
		}
	}
	require.Greater(t, checked, 400)
}

// exportedNames returns the exported names of each public package by its name, with fields and methods as Type.Name;
// under "" those of all packages.
func exportedNames(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{"": {}}
	for file := range declarations(t) {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "internal/") || strings.HasPrefix(file, "tests/") ||
			strings.HasPrefix(file, "cmd/") || strings.HasPrefix(file, "examples/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "../"+file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		own := all[parsed.Name.Name]
		if own == nil {
			own = map[string]bool{}
			all[parsed.Name.Name] = own
		}
		for _, decl := range parsed.Decls {
			declare(own, decl)
			declareFields(own, decl)
		}
		for name := range own {
			all[""][name] = true
			if _, member, ok := strings.Cut(name, "."); ok {
				all[""]["."+member] = true
			}
		}
	}
	return all
}

// declareFields adds the fields of structs and the methods of interfaces as type.name.
func declareFields(names map[string]bool, decl ast.Decl) {
	d, ok := decl.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		var fields *ast.FieldList
		switch s := s.Type.(type) {
		case *ast.StructType:
			fields = s.Fields
		case *ast.InterfaceType:
			fields = s.Methods
		default:
			continue
		}
		for _, f := range fields.List {
			for _, n := range f.Names {
				names[s.Name.Name+"."+n.Name] = true
			}
		}
	}
}

// TestChineseWords keeps one Chinese word for one thing: 归档, 撤销, 提示缓存, 服务商, 智能体, 占位符; and 有效 of a request.
func TestChineseWords(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.zh-CN.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../README.zh-CN.md", "../internal/page/words.js") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		require.NotRegexp(t, `存档|撤回|提示词缓存|提供商|提供方|代理|占位文本|录音`, string(text), page)
		if strings.HasPrefix(page, "../docs/") {
			require.NotContains(t, string(text), "合法", page)
		}
	}
}

// TestSectionsAreFound follows each link to a section of a page.
func TestSectionsAreFound(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s#:]*)#([^)\s]+)\)`)
	block := regexp.MustCompile("(?s)```.*?```")
	title := regexp.MustCompile(`(?m)^#+ (.*)$`)
	marks := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	texts, sections := map[string]string{}, map[string]bool{}
	for _, page := range append(docPages(t), "../README.md", "../README.zh-CN.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		texts[page] = block.ReplaceAllString(string(text), "")
		for _, m := range title.FindAllStringSubmatch(texts[page], -1) {
			sections[page+"#"+strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
		}
	}
	for page, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if to := filepath.Join(filepath.Dir(page), m[1]); m[1] == "" || texts[to] != "" {
				require.True(t, sections[map[bool]string{true: page, false: to}[m[1] == ""]+"#"+m[2]], "%s leads to %s#%s, which does not exist", page, m[1], m[2])
			}
		}
	}
}

// TestPagesAreFound follows each link to a file on all pages, and checks that the index has every page and each README at
// most 14, the index among them.
func TestPagesAreFound(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)\s]*)?\)`)
	linked := func(page, text string) []string {
		var files []string
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(m[1], ":") {
				files = append(files, filepath.Join(filepath.Dir(page), m[1]))
			}
		}
		return files
	}
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	pages := docPages(t)
	for _, page := range append(slices.Clone(pages), "../README.md", "../README.zh-CN.md", "../CONTRIBUTING.md", "../CHANGELOG.md", "../SECURITY.md") {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		files := linked(page, code.ReplaceAllString(string(text), ""))
		for _, file := range files {
			require.True(t, strings.HasPrefix(file, "..") && exists(file), "%s leads to %s, which does not exist", page, file)
		}
		switch filepath.Base(page) {
		case "README.md", "README.zh-CN.md":
			if filepath.Dir(page) == "../docs" {
				require.Subset(t, append(files, page), pages, "the index has all pages")
				continue
			}
			_, more, _ := strings.Cut(string(text), "\n## "+map[bool]string{true: "More", false: "更多"}[page == "../README.md"])
			listed := slices.DeleteFunc(linked(page, more), func(f string) bool { return !strings.HasPrefix(f, "../docs/") })
			require.Contains(t, listed, "../docs/README.md")
			require.LessOrEqual(t, len(listed), 14, "%s lists the pages that most readers need", page)
		}
	}
}

// exists reports whether there is a file or folder with this path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
