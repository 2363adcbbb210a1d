-- Before an absence check it is looked up whether another account has the subject at the application.
CREATE INDEX CONCURRENTLY "app_connections_of_subject" ON "app_connections"("app_id", "subject");
