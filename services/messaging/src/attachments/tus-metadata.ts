import { isUtf8 } from 'node:buffer';
import { badRequest, shortName } from '@natter/contracts';

const maxName = 255;
const pairOf = /^([\x21-\x2b\x2d-\x7e]+)(?: ([A-Za-z0-9+/]*={0,2}))?$/;

/** The file that `Upload-Metadata` describes: names and values in base64, separated by commas. */
export function describedBy(metadata: string): { name: string; contentType: string } {
  const values = new Map<string, string>();
  for (const pair of metadata === '' ? [] : metadata.split(',')) {
    const [, key, value = ''] = pairOf.exec(pair.trim()) ?? [];
    if (key === undefined || value.replace(/=+$/, '').length % 4 === 1)
      throw badRequest('Upload-Metadata is not a list of names and values in base64');
    if (values.has(key)) throw badRequest('Upload-Metadata has a name twice');
    const bytes = Buffer.from(value, 'base64');
    if (!isUtf8(bytes)) throw badRequest('Upload-Metadata is not valid UTF-8');
    values.set(key, bytes.toString('utf8'));
  }
  const name = shortName(values.get('filename') ?? '', maxName);
  return {
    name: name === '.' || name === '..' ? '' : name,
    contentType: shortName(values.get('filetype') ?? '', maxName),
  };
}
