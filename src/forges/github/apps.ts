import { z } from 'zod';
import { createApiClient } from '../http/api-client.ts';
import type { ForgeServices } from '../http/services.ts';
import { causedBy, invalidResponse, isForgeError } from '../interface/errors.ts';
import type { ForgeAddress } from '../support/connection.ts';
import { nameText } from '../support/text.ts';
import { apiUrlOf, installationUrlOf } from './addresses.ts';
import { appShape, createAppCredentials, githubHeaders } from './credentials.ts';

/** An App that GitHub has just created from a manifest, with its secrets. */
export interface RegisteredApp {
  readonly appId: string;
  readonly name: string;
  /** PEM. */
  readonly privateKey: string;
  /** Null: the App has no webhook. */
  readonly webhookSecret: string | null;
  /** The page of GitHub that installs the App in an account. */
  readonly installationUrl: string;
}

/** An App with its key. */
export interface AppKey {
  readonly appId: string;
  readonly privateKey: string;
}

/** An installation of an App. */
export interface AppInstallation {
  readonly id: string;
  /** The login of the account; null: unknown. */
  readonly account: string | null;
}

/** The registration of Apps at one GitHub: the flow with a manifest, and the installations of an App. */
export interface GithubApps {
  readonly host: string;
  /** The origin of {@link formUrl}. */
  readonly origin: string;
  /** Returns the URL to which a browser posts a manifest. `organization`: the login of the owner; null: the person. */
  formUrl(organization: string | null, state: string): string;
  /** Exchanges the code of GitHub for the App. It counts once, for an hour. Rejects with ForgeError. */
  convert(code: string): Promise<RegisteredApp>;
  /**
   * Reads an installation with the App's own credential, so that an id of another App is refused. `id` null: the only
   * installation. Rejects with ForgeError.
   */
  readInstallation(app: AppKey, id: string | null): Promise<AppInstallation>;
}

const conversionShape = appShape.extend({
  'name': nameText(100),
  'pem': z.string().min(1).max(20_000),
  'webhook_secret': z.string().min(1).max(255).nullish(),
});

/** Opens the {@link GithubApps} of a host without a request. */
export function openGithubApps(address: ForgeAddress, { http, now }: ForgeServices): GithubApps {
  const { host, baseUrl } = address;
  const apiUrl = apiUrlOf(address);
  return {
    host,
    origin: new URL(baseUrl).origin,
    formUrl(organization, state) {
      const owner = organization === null ? '' : `/organizations/${encodeURIComponent(organization)}`;
      return `${baseUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`;
    },
    async convert(code) {
      const client = createApiClient({
        ...{ http, baseUrl: apiUrl, host, headers: githubHeaders, now },
        authorize: async () => ({}),
        secrets: () => [code],
      });
      const path = `/app-manifests/${encodeURIComponent(code)}/conversions`;
      try {
        const call = { method: 'POST', path, action: 'hand over the new GitHub App' } as const;
        const { data } = await client.call(conversionShape, call);
        const appId = data.id;
        try {
          createAppCredentials({ ...{ http, apiUrl, host, now }, appId, privateKey: data.pem, installationId: null });
        } catch (error) {
          throw invalidResponse(host, 'the private key of the App is not an RSA key', error);
        }
        return {
          appId,
          name: data.name,
          privateKey: data.pem,
          webhookSecret: data.webhook_secret ?? null,
          // Never the forge's own `html_url`, which could lead anywhere.
          installationUrl: installationUrlOf(address, data.slug),
        };
      } catch (error) {
        if (!isForgeError(error, 'NOT_FOUND', 'REJECTED')) throw error;
        const message = `${host} did not accept the code. A code can be used once, within an hour.`;
        throw causedBy(error, 'REJECTED', message, { status: error.status });
      }
    },
    async readInstallation({ appId, privateKey }, installationId) {
      const app = createAppCredentials({ http, apiUrl, host, appId, privateKey, installationId, now });
      const { id, account } = await app.installation();
      return { id, account: account?.login ?? null };
    },
  };
}
