-- Only what asks for these states may use it: the claim of one withdrawal's calls must not read all open ones.
CREATE INDEX CONCURRENTLY "app_notifications_of_app" ON "app_notifications"("app_id", "due_at")
  WHERE (status IN ('pending', 'processing'));
