-- The browsers that asked for a change and that verified it, for letters that are sent later. An older release writes none.
ALTER TABLE "email_change_requests" ADD COLUMN "request_user_agent" TEXT;
ALTER TABLE "email_change_requests" ADD COLUMN "closed_user_agent" TEXT;
