// Package samples has texts to measure counters with. It is for tests and benchmarks.
package samples

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Texts are a megabyte or so each: the source of Go's standard library, the
// prose of its comments, both in JSON, and Chinese that is made up here.
type Texts struct{ Code, Prose, JSON, Chinese string }

// Read returns the texts, which are read once. Without the source of Go, all but Chinese
// are empty.
var Read = sync.OnceValues(func() (s Texts, err error) {
	const enough = 1_000_000
	type record struct {
		File       string   `json:"file"`
		Name       string   `json:"name"`
		Doc        string   `json:"doc"`
		Line       int      `json:"line"`
		Exported   bool     `json:"exported"`
		Parameters []string `json:"parameters"`
	}
	var code, prose strings.Builder
	var records []record
	files := token.NewFileSet()
	root := filepath.Join(build.Default.GOROOT, "src")
	for _, folder := range []string{"net/http", "go/types", "encoding", "database/sql", "text", "os", "time", "log", "context", "testing"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata") {
				return nil
			}
			src, err := os.ReadFile(name) //nolint:gosec // of the Go tree
			if err != nil {
				return err
			}
			if code.Len() < enough {
				code.Write(src)
			}
			f, err := parser.ParseFile(files, name, src, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, c := range f.Comments {
				if text := c.Text(); prose.Len() < enough && len(text) > 120 {
					prose.WriteString(text + "\n")
				}
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				r := record{
					File: filepath.Base(name), Name: fn.Name.Name, Doc: fn.Doc.Text(),
					Line: files.Position(fn.Pos()).Line, Exported: fn.Name.IsExported(),
				}
				for _, p := range fn.Type.Params.List {
					for _, n := range p.Names {
						r.Parameters = append(r.Parameters, n.Name)
					}
				}
				records = append(records, r)
			}
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	if len(records) > 0 {
		out, err := json.MarshalIndent(records, "", "  ")
		if err != nil {
			return s, err
		}
		s.JSON = string(out[:min(len(out), enough)])
	}
	s.Code = code.String()
	s.Prose = prose.String()
	s.Chinese = Chinese(enough)
	return s, nil
})

// Chinese returns sentences put together at random, the same in each run.
func Chinese(size int) string {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in each run
	pick := func(from string) string {
		all := strings.Fields(from)
		return all[r.IntN(len(all))]
	}
	var b strings.Builder
	for b.Len() < size {
		if r.IntN(3) == 0 {
			b.WriteString(pick("昨天下午 因此 与此同时 按照上次会议的决定 从日志里可以看出 如果没有别的意见 在大多数情况下 值得注意的是 换句话说 除此之外 到目前为止") + "，")
		}
		b.WriteString(pick("我们 这个系统 负责测试的同事 上海的用户 新来的工程师 数据库 调度程序 客户 前端团队 服务器 项目经理 王女士 编译器 夜间构建任务 这份合同"))
		b.WriteString(pick("已经 正在 还没有 终于 可能会 不应该 必须 很快就能 一直在 偶尔 重新 自动"))
		b.WriteString(pick("检查 修复 整理 删除 翻译 压缩 提交 监控 讨论 记录 迁移 比较 下载 确认 推迟 解释 验证"))
		b.WriteString(pick("了 过 着 完 一下 好"))
		b.WriteString(pick("所有的历史记录 三个配置文件 昨晚失败的请求 缓存中的旧数据 用户的反馈意见 网络连接超时的原因 内存占用过高的问题 " +
			"第二季度的销售报告 苏州园林的照片 登录页面 那封很长的邮件 权限列表 备份策略 模型的上下文窗口 葡萄和樱桃的价格 桥梁的设计图纸"))
		b.WriteString(pick("。 。 。 ， ， ； ？ ！ ："))
		if r.IntN(6) == 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}
