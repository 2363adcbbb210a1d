-- A withdrawn account is not looked for.
CREATE INDEX CONCURRENTLY "users_ledger_mark" ON "users"("ledger_mark") WHERE (withdrawn_at IS NULL);
