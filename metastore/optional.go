package metastore

// Optional is a value that may be absent. The zero value is absent.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some returns a present value.
func Some[T any](value T) Optional[T] {
	return Optional[T]{Value: value, Set: true}
}
