-- Since when an application leaves a call without a good answer, and whether the operator was told.
ALTER TABLE "app_notifications" ADD COLUMN "first_tried_at" TIMESTAMPTZ(3);
ALTER TABLE "connected_apps" ADD COLUMN "silent_at" TIMESTAMPTZ(3);
