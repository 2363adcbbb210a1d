-- audit_events_on_apps has its rows.
DROP INDEX "audit_events_of_apps";
