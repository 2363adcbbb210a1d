CREATE INDEX CONCURRENTLY "notices_of_accounts" ON "notices"("created_at") WHERE (change_request_id IS NULL AND withdrawal_id IS NULL AND due_at IS NULL);
