-- Service users have read marks, pins and saved views too: the administrator of the first start is one. Ids of users and service
-- users never agree.
ALTER TABLE "session_read" RENAME COLUMN "user_id" TO "principal_id";
ALTER TABLE "session_pin" RENAME COLUMN "user_id" TO "principal_id";
ALTER TABLE "saved_view" RENAME COLUMN "user_id" TO "principal_id";
