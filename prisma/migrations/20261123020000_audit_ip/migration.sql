-- For housekeeping, which clears the address of audit rows after thirty days.
CREATE INDEX CONCURRENTLY "audit_events_with_ip" ON "audit_events"("at") WHERE ip IS NOT NULL;
