-- The application whose deletion tasks a service token takes. A token of before takes none until it is made anew.
ALTER TABLE "service_tokens" ADD COLUMN "app_id" TEXT;
