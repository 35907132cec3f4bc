package indexconfig

import "testing"

func TestSchedulesAreWordsOrCronExpressionsWithSeconds(t *testing.T) {
	t.Parallel()
	for _, schedule := range []string{
		"hourly", "daily", "@weekly", " monthly ", "0 0 3 * * *", // recorded
		"@hourly", "@daily", "@monthly", "@yearly", "weekly", "yearly", "\thourly\n",
		"0 0 3 * * * 2030", "*/5 0-30/10 1,2,3 ? jan-MAR Mon,wed-fri", "0 0 0 31 12 7 1970-2100", "0 0 0 1 January Sunday", "0  0 3 * * *",
	} {
		if err := validateSchedule(schedule); err != nil {
			t.Errorf("%q: %v", schedule, err)
		}
	}
}

func TestOtherSchedulesAreRefused(t *testing.T) {
	t.Parallel()
	for _, schedule := range []string{
		"", "whenever", "Daily", "every day", "@fortnightly", "* * *", "0 3 * * *", "0 0 25 * * *", // recorded
		" ", "@", "@ daily", "@@daily", "@Daily", "60 0 0 * * *", "0 60 0 * * *", "0 0 0 0 * *", "0 0 0 32 * *", "0 0 0 1 13 *", "0 0 0 1 1 8",
		"0 0 0 1 1 0", "0 0 0 * * * 1969", "0 0 0 * * * 2101", "0 0 0 * * * * *", "a b c d e f", "5-1 0 0 * * *", "0 */0 * * * *", "0 */x * * * *",
		"0 , 0 * * *", "0 1- 0 * * *", "-1 0 0 * * *",
	} {
		if err := validateSchedule(schedule); err == nil {
			t.Errorf("%q: accepted", schedule)
		}
	}
}
