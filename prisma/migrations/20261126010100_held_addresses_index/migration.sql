-- Whether an address is held is asked wherever one is written.
CREATE INDEX CONCURRENTLY "email_change_requests_held" ON "email_change_requests"("old_email_key")
  WHERE (old_email_key IS NOT NULL AND status = 'verified');
