package idempotency

// elsewhere says, for each numbered case that is not run here, where it is tested, or what it waits for.
func elsewhere() map[int]string {
	return map[int]string{
		9:  "waits for the HTTP gateway: a quoted key",
		51: "waits for authorisation: there is none",
		52: "waits for the HTTP gateway: query parameters",
		53: "waits for the HTTP gateway: the same call over gRPC and HTTP",
		54: "metastore/idempotency: TestFingerprintsOfAnotherVersionAreNotCompared",
		57: "metastore/postgres: TestACallDoesNotWaitLongForAnotherWithItsKey",
		58: "metastore/postgres: TestACallDoesNotWaitLongForAnotherWithItsKey, TestAWaitingCallIsExecutedWhenTheOtherIsUndone",
		59: "metastore/idempotency: TestWaitingForAKeyIsBounded",
		60: "integration/chaos",
		61: "integration/chaos",
		62: "metastore/postgres: TestACommitWhoseAnswerIsLostIsFoundOut",
		63: "metastore/postgres: TestACommitWhoseAnswerIsLostIsFoundOut",
		64: "metastore/postgres: TestARecordThatIsRemovedInTheSameMomentDoesNoHarm",
		65: "metastore/file: TestAKeyedCallWhoseAnswerFromTheStorageIsLost",
		67: "metastore/file: TestAKeyedDeletionThatWasCutOffIsCompleted",
		68: "metastore/file: TestAKeyedCreationThatWasCutOffIsCompleted",
		69: "metastore/file: TestAKeyedCallThatChangesNothingWritesNothing",
		70: "metastore/idempotency: TestWaitingForAKeyIsBounded",
		72: "metastore/postgres: TestARecordThatNoServerWritesIsRefused; the file store has no status",
		73: "metastore/postgres: TestOldRecordsAreRemovedInBatches; metastore/file: TestRecordsAreForgottenWhenNobodyAcceptsTheirKeys",
		75: "metastore/postgres: TestTheRecordsOfACallerAreBounded",
		76: "metastore/file: TestRecordsAreForgottenWhenNobodyAcceptsTheirKeys",
		77: "metastore/file: TestARecordThatCannotBeReadStopsOnlyCallsWithKeys",
		78: "metastore/postgres: TestTheSchemaIsThePeersButForOneIndex",
		84: "there are no notifications after a commit",
	}
}
