-- For the cleanup of blockers that have expired.
CREATE INDEX CONCURRENTLY "withdrawal_blockers_expires_at_idx" ON "withdrawal_blockers"("expires_at");
