-- The list of accounts whose address takes no mail.
CREATE INDEX CONCURRENTLY "users_email_undeliverable" ON "users"("id") WHERE (email_undeliverable_at IS NOT NULL);
