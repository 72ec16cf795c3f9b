import { compressed } from './compression.ts';
import { createCors } from './cors.ts';

/** What HTTP asks of every door alike. */
export interface Outside {
  /** The answer of a door as it goes out: compressed, and readable for pages of origins that are allowed. */
  answer(request: Request, door: () => Promise<Response>): Promise<Response>;
}

/** See {@link Outside}; `corsOrigins` as the configuration has them. */
export function createOutside({ corsOrigins }: { readonly corsOrigins: readonly string[] }): Outside {
  const cors = createCors(corsOrigins);
  return {
    async answer(request, door) {
      return cors.preflight(request) ?? cors.allow(request, await compressed(request, await door()));
    },
  };
}
