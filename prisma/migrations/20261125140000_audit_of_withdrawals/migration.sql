-- What operators and services did with a withdrawal and its tasks: few rows, which belong to who did it.
CREATE INDEX CONCURRENTLY "audit_events_of_withdrawals" ON "audit_events"("subject_id")
  WHERE (action IN ('withdrawal.retried', 'task.retried', 'task.waived'));
