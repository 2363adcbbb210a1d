-- Since when an application leaves a call without a good answer, and whether the operator was told.
ALTER TABLE "app_notifications" ADD COLUMN "first_tried_at" TIMESTAMPTZ(3);
ALTER TABLE "connected_apps" ADD COLUMN "silent_at" TIMESTAMPTZ(3);
-- Only what asks for first_tried_at may use it: the claim of one withdrawal's calls must not read all open ones.
CREATE INDEX "app_notifications_tried" ON "app_notifications"("first_tried_at")
  WHERE (first_tried_at IS NOT NULL AND due_at IS NOT NULL);
