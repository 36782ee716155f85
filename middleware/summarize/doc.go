// Package summarize folds old messages into a summary.
package summarize
