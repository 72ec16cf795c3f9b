-- CreateTable
CREATE TABLE "session_read" (
    "user_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "read_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_read_pkey" PRIMARY KEY ("user_id","session_id")
);

-- CreateTable
CREATE TABLE "session_pin" (
    "user_id" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pin_pkey" PRIMARY KEY ("user_id","session_id")
);

-- What was there before has been read.
INSERT INTO "session_read" ("user_id", "session_id", "seq", "read_at")
SELECT s."user_id", s."id", greatest(h."next_seq" - 1, 0), s."updated_at"
  FROM "session" s JOIN "session_head" h ON h."session_id" = s."id" WHERE s."user_id" IS NOT NULL;
