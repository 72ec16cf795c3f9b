import { describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { missing, useConsole } from '../support/console-browser.ts';
import { makeOrganization } from '../support/sessions.ts';
import { seedSession, use } from '../support/usage.ts';

describe.skipIf(missing !== null)('the chart of Usage', { timeout: 240_000 }, () => {
  const service = useConsole();

  it('shows the previous period over the columns, readable in both themes and with forced colours', async () => {
    const { organizationId: id, token } = await makeOrganization(service.test, 'Readable');
    const organizationId = parseId('organization', id) as string;
    const days = { '2026-02-26': 1, '2026-02-27': 2, '2026-03-02': 4, '2026-03-03': 3 };
    for (const [createdAt, acus] of Object.entries(days))
      await use(service.test, await seedSession(service.test, { organizationId, createdAt }), acus, createdAt);
    const { page, picture, inThemes } = await service.open('/usage?from=2026-03-01&to=2026-03-04', token);
    await page.locator('.chart .line.before').waitFor();
    // In the order in which they are drawn: the halo covers the columns, and the dashed line is on it.
    const drawn = page.locator('.chart').first().locator('.value, .halo, .line.before');
    const names = await drawn.evaluateAll((all) => all.map((each) => each.getAttribute('class')));
    expect(names.slice(-2)).toEqual(['visx-linepath line halo', 'visx-linepath line before']);
    const contrasts = () =>
      page
        .locator('.chart')
        .first()
        .evaluate((chart) => {
          const light = (colour: string) => {
            const context = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
            context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1);
            const [red = 0, green = 0, blue = 0] = [...context.getImageData(0, 0, 1, 1).data].map((part) =>
              part <= 10 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
            );
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
          };
          const between = (one: string, other: string) => {
            const [dark = 0, bright = 0] = [light(one), light(other)].sort((a, b) => a - b);
            return (bright + 0.05) / (dark + 0.05);
          };
          const look = (part: string) => getComputedStyle(chart.querySelector(part) as Element);
          const [bar, halo, line] = [look('.value'), look('.halo'), look('.before')];
          return {
            isWider: Number.parseFloat(halo.strokeWidth) >= Number.parseFloat(line.strokeWidth) + 4,
            lowest: Math.min(between(line.stroke, halo.stroke), between(halo.stroke, bar.fill)),
          };
        });
    const check = async (look: string) => {
      const { isWider, lowest } = await contrasts();
      expect(isWider, look).toBe(true);
      expect(lowest, look).toBeGreaterThanOrEqual(3);
    };
    await inThemes(async (theme) => {
      await check(theme);
      await picture('usage-previous-period');
    });
    await page.emulateMedia({ forcedColors: 'active' });
    await check('forced colours');
    await picture('usage-previous-period-forced');
  });
});
