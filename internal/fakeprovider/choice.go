package fakeprovider

import "encoding/json"

// readChoice reads tool_choice, or function_call in its place.
func (r *Request) readChoice(o object) error {
	for _, name := range []string{"tool_choice", "function_call"} {
		if !o.has(name) {
			continue
		}
		raw := o.fields[name]
		if kindOf(raw) == "a string" {
			var err error
			if r.Choice, err = o.text(name); err != nil {
				return err
			}
			switch r.Choice {
			case "none", "auto":
				continue
			case "required":
				if name == "tool_choice" {
					continue
				}
			}
			return wrongValue(name, r.Choice, "'none', 'auto', and 'required'")
		}
		return r.readNamedChoice(raw, name)
	}
	return nil
}

func (r *Request) readNamedChoice(raw json.RawMessage, name string) error {
	if name == "function_call" {
		f, err := readObject(raw, name, "name")
		if err != nil {
			return err
		}
		return r.choose(f, name)
	}
	o, err := readObject(raw, name, "type", "function", "allowed_tools")
	if err != nil {
		return err
	}
	kind, err := o.needText("type")
	if err != nil {
		return err
	}
	switch kind {
	case "function":
		if !o.has("function") {
			return missing(o.at("function"))
		}
		f, err := readObject(o.fields["function"], o.at("function"), "name", "arguments")
		if err != nil {
			return err
		}
		return r.choose(f, name)
	case "allowed_tools":
		return r.readAllowed(o)
	default:
		return wrongValue(o.at("type"), kind, "'function' and 'allowed_tools'")
	}
}

func (r *Request) readAllowed(o object) error {
	if !o.has("allowed_tools") {
		return missing(o.at("allowed_tools"))
	}
	a, err := readObject(o.fields["allowed_tools"], o.at("allowed_tools"), "mode", "tools")
	if err != nil {
		return err
	}
	mode, err := a.needText("mode")
	if err != nil {
		return err
	}
	if mode != "auto" && mode != "required" {
		return wrongValue(a.at("mode"), mode, "'auto' and 'required'")
	}
	all, err := a.list("tools")
	if err != nil {
		return err
	}
	for i, raw := range all {
		t, err := readObject(raw, index(a.at("tools"), i), "type", "function")
		if err != nil {
			return err
		}
		f, err := readObject(t.fields["function"], t.at("function"), "name")
		if err != nil {
			return err
		}
		if err := r.choose(f, "tool_choice"); err != nil {
			return err
		}
	}
	r.Choice = mode
	return nil
}

// choose takes the name of a tool that must be declared.
func (r *Request) choose(f object, param string) error {
	name, err := f.needText("name")
	if err != nil {
		return err
	}
	if r.Tool(name) == nil {
		return invalid("", param, "Invalid value for '%s': no function named '%s' was specified in the '%s' parameter.",
			param, name, map[bool]string{false: "tools", true: "functions"}[r.Legacy])
	}
	r.Choice = name
	return nil
}
