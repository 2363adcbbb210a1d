-- Each new connection asks whether the database has a line.
CREATE INDEX CONCURRENTLY "withdrawals_ledger_seq" ON "withdrawals"("ledger_seq");
