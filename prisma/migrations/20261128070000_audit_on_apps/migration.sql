-- As audit_events_of_apps, and for when an application was disabled and enabled. It serves the statement of the last release too.
CREATE INDEX CONCURRENTLY "audit_events_on_apps" ON "audit_events"("subject_id", "at") WHERE action = ANY (ARRAY['app.registered'::text, 'app.changed'::text, 'app.disabled'::text, 'app.enabled'::text, 'app.secret_rotated'::text, 'events.resent'::text]);
