import { z } from 'zod';
import { base64, bigId, id, integer, string } from '../model/bounded.ts';
import { operation, pageSchema, type ServiceName } from '../model/operation.ts';
import { body, file, header, json, text } from '../model/param.ts';

/** A file that its owner uploaded, and the messages that refer to it. Times are in milliseconds. */
export const attachmentSchema = z.object({
  id: z.int().describe('The ID of the uploaded file.'),
  name: z.string().describe('The name of the file.'),
  path_id: z.string(),
  size: z.int(),
  create_time: z.int(),
  messages: z
    .array(z.object({ id: z.int().describe('The ID of the message.'), date_sent: z.int() }))
    .describe('The messages that refer to the file.'),
});
export type Attachment = z.infer<typeof attachmentSchema>;

const found = z.object({ url: z.string().describe('The address, which works for a minute without authentication.') });

/** Files travel on the bus in chunks of this size, in base64, one per request. */
export const fileChunkBytes = 192 * 1024;

/** The state of a resumable upload. */
const resumableSchema = z.object({
  upload_id: z.string(),
  upload_offset: z.int(),
  upload_length: z.int().describe('The size of the whole file in bytes.'),
  upload_metadata: z.string(),
  upload_expires: z.int(),
  url: z
    .string()
    .optional()
    .describe('The address of the file, to be linked from a message, once the upload is complete.'),
  filename: z.string().optional().describe('The name of the file, once the upload is complete.'),
});
export type ResumableUpload = z.infer<typeof resumableSchema>;

const upload_id = text(string(100));
const maxMetadata = 8_000;

export const uploadOperations = {
  uploadFile: operation({
    name: 'upload-file',
    service: 'messaging',
    http: { method: 'POST', path: '/user_uploads' },
    summary: 'Upload a file, to be linked from messages.',
    weight: 3,
    params: { file: file() },
    result: z.object({
      url: z.string().describe('The address of the file, to be linked from a message.'),
      uri: z.string(),
      filename: z.string(),
    }),
    errors: ['BAD_REQUEST', 'REALM_UPLOAD_QUOTA'],
    events: ['attachment'],
  }),
  createResumableUpload: operation({
    name: 'create-resumable-upload',
    service: 'messaging',
    http: { method: 'POST', path: '/tus' },
    protocol: 'tus',
    summary: 'Begin a resumable upload by the protocol tus 1.0.0, whose data follows.',
    weight: 3,
    params: {
      upload_length: header('Upload-Length', json(integer(0, Number.MAX_SAFE_INTEGER).optional())),
      upload_metadata: header('Upload-Metadata', text(string(maxMetadata).default(''))),
    },
    result: resumableSchema,
    errors: ['LENGTH_REQUIRED', 'UNSUPPORTED_TUS_VERSION', 'REQUEST_TOO_LARGE'],
    events: ['attachment'],
  }),
  getResumableUpload: operation({
    name: 'get-resumable-upload',
    service: 'messaging',
    http: { method: 'GET', path: '/tus/{upload_id}' },
    protocol: 'tus',
    summary: 'The state of a resumable upload of the caller; HEAD answers it in headers alone.',
    params: { upload_id },
    result: resumableSchema,
    errors: ['UNSUPPORTED_TUS_VERSION'],
  }),
  appendResumableUpload: operation({
    name: 'append-resumable-upload',
    service: 'messaging',
    http: { method: 'PATCH', path: '/tus/{upload_id}' },
    protocol: 'tus',
    summary: 'Continue a resumable upload of the caller. The last part turns it into an uploaded file.',
    params: {
      upload_id,
      upload_offset: header('Upload-Offset', json(integer(0, Number.MAX_SAFE_INTEGER))),
      bytes: body(fileChunkBytes),
    },
    result: resumableSchema,
    errors: [
      'UPLOAD_OFFSET_MISMATCH',
      'UNSUPPORTED_TUS_VERSION',
      'UNSUPPORTED_MEDIA_TYPE',
      'REQUEST_TOO_LARGE',
      'REALM_UPLOAD_QUOTA',
    ],
    events: ['attachment'],
  }),
  deleteResumableUpload: operation({
    name: 'delete-resumable-upload',
    service: 'messaging',
    http: { method: 'DELETE', path: '/tus/{upload_id}' },
    protocol: 'tus',
    summary: 'End a resumable upload of the caller. The data of an incomplete one is deleted; a complete file stays.',
    params: { upload_id },
    errors: ['UNSUPPORTED_TUS_VERSION'],
  }),
  getFileUrl: operation({
    name: 'get-file-url',
    service: 'messaging',
    http: { method: 'GET', path: '/user_uploads/{realm_id_str}/{filename}' },
    summary: 'An address of a file that works without authentication, for a minute.',
    params: { realm_id_str: text(string(1_000)), filename: text(string(1_000)) },
    result: found,
    errors: ['BAD_REQUEST'],
  }),
  /** For clients that do not escape the slashes in the path of the file. */
  getFileUrlByPath: operation({
    name: 'get-file-url-by-path',
    service: 'messaging',
    http: { method: 'GET', path: '/user_uploads/{realm_id_str}/{folder}/{token}/{filename}' },
    isAlias: true,
    summary: 'An address of a file that works without authentication, for a minute.',
    params: {
      realm_id_str: text(string(1_000)),
      folder: text(string(1_000)),
      token: text(string(1_000)),
      filename: text(string(1_000)),
    },
    result: found,
    errors: ['BAD_REQUEST'],
  }),
  getFile: operation({
    name: 'get-file',
    service: 'messaging',
    page: { method: 'GET', path: '/user_uploads/{realm_id}/{folder}/{token}/{name}' },
    caller: 'spectator',
    summary: 'A file, for who uploaded it and for who may read a message that refers to it.',
    params: {
      realm_id: text(string(1_000)),
      folder: text(string(1_000)),
      token: text(string(1_000).describe('The third part of the path of the file, which nobody can guess.')),
      name: text(string(1_000).describe('The name of the file.')),
    },
    result: pageSchema,
    isReadOnly: true,
  }),
  getTemporaryFile: operation({
    name: 'get-temporary-file',
    service: 'messaging',
    page: { method: 'GET', path: '/user_uploads/temporary/{access}/{name}' },
    caller: 'public',
    summary: 'A file at an address that was given out within the last minute.',
    params: { access: text(string(1_000)), name: text(string(1_000).describe('The name of the file.')) },
    result: pageSchema,
    isReadOnly: true,
  }),
  getExternalContent: operation({
    name: 'get-external-content',
    service: 'messaging',
    page: { method: 'GET', path: '/external_content/{signature}/{address}' },
    caller: 'public',
    summary: 'An image or a video of another site that a message shows, at the address that the message gives.',
    params: {
      signature: text(string(1_000).describe('The signature of the server over the address.')),
      address: text(string(4_000).describe('The address of the image or video, as the message gives it.')),
    },
    result: pageSchema,
    isReadOnly: true,
  }),
  getAttachments: operation({
    name: 'get-attachments',
    service: 'messaging',
    http: { method: 'GET', path: '/attachments' },
    summary: 'The files that the caller uploaded, newest first: all, or the newest that fit into 8 MiB.',
    weight: 5,
    result: z.object({ attachments: z.array(attachmentSchema), upload_space_used: z.int() }),
  }),
  deleteAttachment: operation({
    name: 'delete-attachment',
    service: 'messaging',
    http: { method: 'DELETE', path: '/attachments/{attachment_id}' },
    summary: 'Delete a file that the caller uploaded.',
    params: { attachment_id: json(id) },
    errors: ['BAD_REQUEST'],
    events: ['attachment'],
  }),
};

const chunk = { file_key: text(string(1_000)), ordinal: json(id) };
const chunksOf = (service: ServiceName) => ({
  put: operation({
    name: 'put-file-chunk',
    service,
    caller: 'internal',
    callers: ['gateway'],
    summary: 'Stores a chunk of a file that is being uploaded. Storing it again changes nothing.',
    // `size`: the size of the whole file, sent with its first chunk, which is refused if the realm has no room for it.
    params: { ...chunk, bytes: text(base64(fileChunkBytes)), size: json(bigId.optional()) },
    errors: ['REALM_UPLOAD_QUOTA'],
    isIdempotent: true,
    projections: 'current-on-refusal',
  }),
  discard: operation({
    name: 'discard-file-chunks',
    service,
    caller: 'internal',
    callers: ['gateway'],
    summary: 'Deletes the chunks of an upload, unless they became a file.',
    params: { file_key: chunk.file_key },
    isIdempotent: true,
    projections: 'current-on-refusal',
  }),
  read: operation({
    name: 'read-file-chunk',
    service,
    caller: 'internal',
    callers: ['gateway'],
    summary: 'A chunk of a stored file.',
    params: chunk,
    result: z.object({ bytes: z.string() }),
    isReadOnly: true,
    projections: 'current-on-refusal',
  }),
});

/** The chunk operations of each service that stores files. Only the gateway calls them. */
export const fileOperations = { messaging: chunksOf('messaging') };
