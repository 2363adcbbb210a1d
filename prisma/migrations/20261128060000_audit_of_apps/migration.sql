-- What operators and services did to an application, for its page.
CREATE INDEX CONCURRENTLY "audit_events_of_apps" ON "audit_events"("subject_id", "at") WHERE action = ANY (ARRAY['app.registered'::text, 'app.changed'::text, 'app.secret_rotated'::text, 'events.resent'::text]);
