-- AlterTable
ALTER TABLE "offset_walk" DROP COLUMN "has_begun";
