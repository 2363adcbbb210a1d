CREATE INDEX CONCURRENTLY "audit_events_at_id_idx" ON "audit_events"("at", "id");
