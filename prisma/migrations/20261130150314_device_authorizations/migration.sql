-- CreateTable
CREATE TABLE "device_authorization" (
    "id" TEXT NOT NULL,
    "device_code_hash" TEXT NOT NULL,
    "user_code_hash" TEXT NOT NULL,
    "display" TEXT NOT NULL,
    "client_name" TEXT NOT NULL,
    "address" TEXT,
    "network" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "enterprise_id" TEXT,
    "api_key_id" TEXT,

    CONSTRAINT "device_authorization_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "device_authorization_device_code_hash_key" ON "device_authorization"("device_code_hash");

-- CreateIndex
CREATE UNIQUE INDEX "device_authorization_user_code_hash_key" ON "device_authorization"("user_code_hash");

-- CreateIndex
CREATE INDEX "device_authorization_network_expires_at_idx" ON "device_authorization"("network", "expires_at");

-- CreateIndex
CREATE INDEX "device_authorization_expires_at_idx" ON "device_authorization"("expires_at");
