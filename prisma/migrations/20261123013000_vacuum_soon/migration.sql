-- Deleted rows leave the files of these tables within minutes: one in ten thousand is enough for autovacuum, however large the table.
ALTER TABLE "sessions" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "access_tokens" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "notices" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "email_change_requests" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "rate_limits" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "transaction_audit_logs" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "security_incidents" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "legal_records" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "shared_items" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "app_connections" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "archives" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "archive_keys" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "analytics_events" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "communication_logs" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "integration_logs" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "audit_events" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "transactions" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "idempotency_keys" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "ended_credentials" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "profiles" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "retained_records" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "withdrawals" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);
ALTER TABLE "app_notifications" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001);

-- Of these an index holds what a person has written, too: it is cleaned every time, however few its dead entries are.
ALTER TABLE "users" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001, vacuum_index_cleanup = on);
ALTER TABLE "preferences" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001, vacuum_index_cleanup = on);
ALTER TABLE "cache_entries" SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0.0001, vacuum_index_cleanup = on);
