import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseUrl } from '../common/parse-url.ts';

/** An entry of `allowedDomains` that stands for every domain. */
export const anyDomain = '*';

const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/;
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

// The codes and tokens of a sign-in cross this connection, so http is for this computer only.
function isIssuer(value: string): boolean {
  const url = parseUrl(value);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname));
}

const text = (max: number) => z.string().min(1, 'must not be empty').max(max, `must have at most ${max} characters`);

const providerSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, 'must have 1 to 32 lower-case letters, digits and inner hyphens'),
  label: text(60),
  issuer: z.string().refine(isIssuer, {
    error: 'must be an address that begins with https:// and has no query; http:// only on this computer',
  }),
  clientId: text(500),
  clientSecret: text(2_000).optional(),
  clientSecretFile: text(4_096).optional(),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be names of scopes'))
    .refine((scopes) => scopes.includes('openid'), { error: 'must contain "openid"' })
    .default(['openid', 'email', 'profile']),
  allowedDomains: z
    .array(
      z
        .string()
        .transform((value) => value.toLowerCase())
        .refine((value) => value === anyDomain || domain.test(value), {
          error: `must be domains such as example.com, or "${anyDomain}" for all`,
        }),
    )
    .min(1, `must name at least one domain, or "${anyDomain}" for all`),
  trustEmail: z.boolean().default(false),
  groupsClaim: text(200).optional(),
  groupPrefix: z.string().max(60).default(''),
  clockToleranceSeconds: z.number().int().min(0).max(300).default(30),
  sessionHours: z.number().min(1).max(168).default(12),
  defaultRole: z.strictObject({ roleId: text(100), organizationId: text(100).optional() }).optional(),
  refuseTokens: z.boolean().default(false),
  signOutAtProvider: z.boolean().default(true),
});

const fileSchema = z.strictObject({
  $schema: z.unknown().optional(),
  providers: z
    .array(providerSchema)
    .min(1, 'must have at least one provider')
    .max(20, 'must have at most 20 providers'),
});

/** The settings of one identity provider (docs/sign-on.md). */
export interface OidcSettings extends Omit<z.output<typeof providerSchema>, 'clientSecret' | 'clientSecretFile'> {
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
}

/** Reads and validates the file of OIDC_PROVIDERS. Throws one error that lists all its problems by path, without secrets. */
export async function readOidcSettings(path: string): Promise<readonly OidcSettings[]> {
  const json = await readJson(path);
  const result = fileSchema.safeParse(json);
  if (!result.success) {
    throw problemsOf(
      path,
      result.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`),
    );
  }
  const { providers } = result.data;
  const problems = [...findRepeated(providers), ...findSharedGroups(providers)];
  const settings = await Promise.all(
    providers.map(async ({ clientSecret, clientSecretFile, ...provider }, index): Promise<OidcSettings> => {
      if (clientSecret !== undefined && clientSecretFile !== undefined) {
        problems.push(`providers.${index}: clientSecret and clientSecretFile must not both be set`);
      }
      const secret = clientSecretFile === undefined ? clientSecret : await readSecret(clientSecretFile);
      if (secret === '') problems.push(`providers.${index}.clientSecretFile: names no file with a secret`);
      return { ...provider, clientSecret: secret ?? null };
    }),
  );
  if (problems.length > 0) throw problemsOf(path, problems);
  return settings;
}

const problemsOf = (path: string, problems: readonly string[]) =>
  new Error(`OIDC_PROVIDERS (${path}) has problems:\n${problems.map((line) => `  ${line}`).join('\n')}`);

async function readJson(path: string): Promise<unknown> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`OIDC_PROVIDERS (${path}) cannot be read (${error.code}).`, { cause: error });
  });
  // The message of the parser would quote the file, which may have a secret.
  const parsed = parseJson(content);
  if (parsed === undefined) throw new Error(`OIDC_PROVIDERS (${path}) is not valid JSON.`);
  return parsed;
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

const readSecret = (path: string): Promise<string> =>
  readFile(path, 'utf8').then(
    (content) => content.replace(/\r?\n$/, ''),
    () => '',
  );

type Providers = z.output<typeof fileSchema>['providers'];

function findRepeated(providers: Providers): string[] {
  return providers.flatMap(({ id }, index) =>
    providers.findIndex((other) => other.id === id) === index ? [] : [`providers.${index}.id: must be unique`],
  );
}

// A provider must not be able to name a group of another one.
function findSharedGroups(providers: Providers): string[] {
  const withGroups = providers.filter(({ groupsClaim }) => groupsClaim !== undefined);
  return withGroups.flatMap((provider, index) =>
    withGroups.some((other, at) => at !== index && provider.groupPrefix.startsWith(other.groupPrefix))
      ? [`${provider.id}.groupPrefix: of several providers with groups, none may begin with the prefix of another`]
      : [],
  );
}

/** Tells if a provider vouches for the domain of an email address. */
export function isDomainAllowed({ allowedDomains }: Pick<OidcSettings, 'allowedDomains'>, email: string): boolean {
  const [, own] = /@([^@]+)$/.exec(email.toLowerCase()) ?? [];
  return own !== undefined && (allowedDomains.includes(anyDomain) || allowedDomains.includes(own));
}
