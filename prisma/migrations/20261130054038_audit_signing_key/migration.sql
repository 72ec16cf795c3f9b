-- CreateTable
CREATE TABLE "audit_signing_key" (
    "enterprise_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_signing_key_pkey" PRIMARY KEY ("enterprise_id")
);
