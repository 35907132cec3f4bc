package lineage

import "holdfast/metastore"

// scope tells the objects of the recovered index UID from the others.
type scope struct {
	uid     metastore.IndexUID
	aliases []metastore.IndexUID
}

// chooseScope takes the incarnation of the options or else the greatest of the objects: the ULIDs of
// incarnations grow with the time of creation, and objects of the others are leftovers of deleted
// indexes.
func chooseScope(objects []Object, options Options) scope {
	s := scope{uid: options.IndexUID, aliases: options.Aliases}
	if s.uid.Incarnation.IsZero() {
		for i := range objects {
			uid := objects[i].IndexUID
			if objects[i].Content == WithEntry && uid.IndexID == s.uid.IndexID && uid.Compare(s.uid) > 0 {
				s.uid = uid
			}
		}
	}
	return s
}

func (s scope) place(object *Object) place {
	switch object.Content {
	case WithEntry:
	case Legacy:
		return placeLegacy // nothing in it names an index: the location is all there is
	default:
		return placeUnreadable
	}
	if object.IndexUID == s.uid {
		return placeReadable
	}
	for _, alias := range s.aliases {
		if object.IndexUID == alias {
			return placeReadable
		}
	}
	return placeForeign
}
