package replay

// waiting names the scenarios with calls that are not served yet, and the first of these calls. They are
// played and compared up to the first such call that would have changed what the served ones answer.
func waiting() map[string]string {
	return map[string]string{}
}
