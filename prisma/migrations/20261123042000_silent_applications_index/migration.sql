-- Only what asks for first_tried_at may use it: the claim of one withdrawal's calls must not read all open ones.
CREATE INDEX CONCURRENTLY "app_notifications_tried" ON "app_notifications"("first_tried_at")
  WHERE (first_tried_at IS NOT NULL AND due_at IS NOT NULL);
