import { hexToBytes } from '@noble/hashes/utils.js';

export function bytesOfHex(hex: string): Uint8Array {
  return hexToBytes(hex);
}

export function bytesToBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

export function base64ToBytes(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
