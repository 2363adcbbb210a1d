-- Two tables get the names that the glossary gives their rows.
ALTER TABLE "app_notifications" RENAME TO "deletion_tasks";
ALTER TABLE "deletion_tasks" RENAME CONSTRAINT "app_notifications_pkey" TO "deletion_tasks_pkey";
ALTER TABLE "deletion_tasks" RENAME CONSTRAINT "app_notifications_withdrawal_id_fkey" TO "deletion_tasks_withdrawal_id_fkey";
ALTER INDEX "app_notifications_withdrawal_id_app_id_key" RENAME TO "deletion_tasks_withdrawal_id_app_id_key";
ALTER INDEX "app_notifications_tried" RENAME TO "deletion_tasks_tried";
ALTER INDEX "app_notifications_of_app" RENAME TO "deletion_tasks_of_app";

ALTER TABLE "password_reset_requests" RENAME TO "link_requests";
ALTER TABLE "link_requests" RENAME CONSTRAINT "password_reset_requests_pkey" TO "link_requests_pkey";
ALTER INDEX "password_reset_requests_due_at_idx" RENAME TO "link_requests_due_at_idx";

-- Instances of the last release use the old names while they run beside the new ones. The release after this one drops both views.
CREATE VIEW "app_notifications" AS SELECT * FROM "deletion_tasks";
CREATE VIEW "password_reset_requests" AS SELECT * FROM "link_requests";
