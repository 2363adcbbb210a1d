-- The purge of an operator's own account looks up what they did to other accounts.
CREATE INDEX CONCURRENTLY "audit_events_of_operators" ON "audit_events"("actor_id") WHERE actor = 'operator'::text;
