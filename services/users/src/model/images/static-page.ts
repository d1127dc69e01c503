import type { Page } from '@natter/contracts';

export const page = (content_type: string, body: string): Page => ({
  status: 200,
  content_type,
  body,
  is_base64: false,
  cache_seconds: 86_400,
});

export const pngPage = (png: Buffer): Page => ({ ...page('image/png', png.toString('base64')), is_base64: true });
