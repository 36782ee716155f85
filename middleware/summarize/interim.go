package summarize

import "context"

func (j *job) rules() string                                            { return "" }
func (j *job) facts() string                                            { return "" }
func (j *job) askModel(ctx context.Context, all *spent) (string, error) { return "", ctx.Err() }
