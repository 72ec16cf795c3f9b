-- AlterTable
ALTER TABLE "run" ADD COLUMN     "budget_needed_usd" DOUBLE PRECISION NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "provider_key_reservation" (
    "id" TEXT NOT NULL,
    "provider_key_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "worker_id" TEXT NOT NULL,
    "amount_usd" DOUBLE PRECISION NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_key_reservation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "provider_key_reservation_provider_key_id_idx" ON "provider_key_reservation"("provider_key_id");

-- CreateIndex
CREATE INDEX "provider_key_reservation_expires_at_idx" ON "provider_key_reservation"("expires_at");
