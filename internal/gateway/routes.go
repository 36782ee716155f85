package gateway

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Route is an upstream. Requests whose path begins with its name are sent there, without the name: /openai/v1/responses to
// /v1/responses of the route openai. The route without a name gets all others.
type Route struct {
	Name     string
	Upstream *url.URL
}

// NewRoute returns a route. The upstream is http or https, a host, and a path if the API is not at the root.
func NewRoute(name, upstream string) (Route, error) {
	u, err := url.Parse(upstream)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return Route{}, fmt.Errorf("upstream %q is no URL of a server, want one as https://api.openai.com", upstream)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return Route{}, fmt.Errorf("upstream of host %s has a user, a query or a fragment, want only scheme, host and path", u.Host)
	case name != "" && (!routeName.MatchString(name) || slices.Contains(ownPaths, name)):
		return Route{}, fmt.Errorf("route %q: want a name of a-z, 0-9, - and _ that is not one of %s",
			name, strings.Join(ownPaths, ", "))
	}
	return Route{name, u}, nil
}

var (
	routeName = regexp.MustCompile(`^[a-z0-9_-]+$`)
	ownPaths  = []string{"health", "livez", "metrics", "readyz", "v1", "v1beta"} // first segments that mean something else
)

// ParseRoutes reads a file of routes: a line "name: URL" for each, and comments that begin with #.
func ParseRoutes(text string) ([]Route, error) {
	var all []Route
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, upstream, ok := strings.Cut(line, ": ")
		if !ok || name == "" {
			return nil, fmt.Errorf("line %d: want a name, a colon, a space and a URL, as openai: https://api.openai.com", i+1)
		}
		r, err := NewRoute(name, strings.TrimSpace(upstream))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if slices.ContainsFunc(all, func(other Route) bool { return other.Name == name }) {
			return nil, fmt.Errorf("line %d: a second route %s", i+1, name)
		}
		all = append(all, r)
	}
	return all, nil
}

// match returns the route of a path; nil: there is none.
func match(routes []Route, u *url.URL) (fallback *Route) {
	first, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	for i := range routes {
		switch routes[i].Name {
		case first:
			if first != "" {
				return &routes[i]
			}
			fallback = &routes[i]
		case "":
			fallback = &routes[i]
		}
	}
	return fallback
}

// rewrite removes the name of a route from a path.
func (r *Route) rewrite(u *url.URL) {
	if r.Name != "" {
		u.Path = strings.TrimPrefix(u.Path, "/"+r.Name)
		u.RawPath = strings.TrimPrefix(u.RawPath, "/"+r.Name)
	}
}
