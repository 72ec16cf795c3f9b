import { readFileSync } from 'node:fs';
import type { LockedPackage } from './lock.ts';

/** A platform as npm names it. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  /** Null: not Linux. */
  readonly libc: 'glibc' | 'musl' | null;
  /** True for an x64 processor without AVX2, which some programs need a build of their own for. */
  readonly isBaseline: boolean;
}

/** The platform of this process. */
export function ownPlatform(): Platform {
  const { platform: os, arch: cpu } = process;
  if (os !== 'linux') return { os, cpu, libc: null, isBaseline: false };
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return {
    os,
    cpu,
    libc: report.header?.glibcVersionRuntime === undefined ? 'musl' : 'glibc',
    isBaseline: cpu === 'x64' && !hasAvx2(),
  };
}

function hasAvx2(): boolean {
  try {
    return / avx2 /.test(readFileSync('/proc/cpuinfo', 'utf8'));
  } catch {
    return true;
  }
}

/** Returns true if npm installs a package on the platform. */
export function fitsPlatform({ os, cpu, libc }: LockedPackage, platform: Platform): boolean {
  const isListed = (list: readonly string[] | undefined, value: string | null) =>
    list === undefined || (value !== null && list.includes(value));
  return isListed(os, platform.os) && isListed(cpu, platform.cpu) && isListed(libc, platform.libc);
}

/** The end of the name of a package that has one build for each platform, such as `linux-x64-baseline-musl`. */
export function platformSuffix({ os, cpu, libc, isBaseline }: Platform): string {
  return [os, cpu, ...(isBaseline ? ['baseline'] : []), ...(libc === 'musl' ? ['musl'] : [])].join('-');
}
