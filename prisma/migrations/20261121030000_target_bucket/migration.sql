-- AlterTable
ALTER TABLE "email_change_requests" ADD COLUMN     "target_bucket" TEXT;
