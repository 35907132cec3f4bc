package file

import (
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/internal/strictjson"
)

// putTemplateOp stores an index template in place of the one of its id, if there is one.
//
//	"put_template":{"template":<index template document>}
type putTemplateOp struct{ template *indexconfig.IndexTemplate }

func (putTemplateOp) name() string { return "put_template" }

func (o putTemplateOp) append(dst []byte) []byte {
	return append(o.template.AppendJSON(append(dst, `{"template":`...)), '}')
}

func readPutTemplateOp(r *strictjson.Reader) (op, error) {
	var o putTemplateOp
	err := readMember(r, "template", func() (err error) {
		o.template, err = readTemplate(r)
		return err
	})
	return o, err
}

func (o putTemplateOp) applyToRoot(s *rootState) error {
	s.templates.Set(o.template.TemplateID, o.template)
	return nil
}

// dropTemplatesOp removes the index templates of these ids.
//
//	"drop_templates":{"template_ids":["id"]}
type dropTemplatesOp []string

func (dropTemplatesOp) name() string { return "drop_templates" }

func (o dropTemplatesOp) append(dst []byte) []byte {
	return append(strictjson.AppendStrings(append(dst, `{"template_ids":`...), o), '}')
}

func readDropTemplatesOp(r *strictjson.Reader) (op, error) {
	var ids []string
	err := readMember(r, "template_ids", func() error { return strictjson.List(r, &ids, r.String) })
	return dropTemplatesOp(ids), err
}

func (o dropTemplatesOp) applyToRoot(s *rootState) error {
	for _, id := range o {
		s.templates.Delete(id)
	}
	return nil
}

func readTemplate(r *strictjson.Reader) (*indexconfig.IndexTemplate, error) {
	var text []byte
	if err := r.Raw(&text); err != nil {
		return nil, err
	}
	return indexconfig.ParseStoredIndexTemplate(text)
}
