// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// OpenSSL 3, and as functions what it has as macros, which Swift can't see.

#ifndef CDUPLEX_OPENSSL_H
#define CDUPLEX_OPENSSL_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// What a context is set to.

static inline int cduplex_ctx_set_versions(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest) && SSL_CTX_set_max_proto_version(context, highest);
}

static inline void cduplex_ctx_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }

static inline void cduplex_ctx_set_session_cache_mode(SSL_CTX *context, long mode) {
    SSL_CTX_set_session_cache_mode(context, mode);
}

static inline int cduplex_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline void cduplex_ctx_set_servername_callback(SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
    SSL_CTX_set_tlsext_servername_callback(context, callback);
}

/// No renegotiation (CVE-2009-3555, and the load that a client can make by it), no compression (CVE-2012-4929), and the
/// server's order of ciphers.
static inline void cduplex_ctx_set_safe_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline void cduplex_ctx_give_no_tickets(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
}

// What a connection is set to.

static inline int cduplex_ssl_set_server_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name) == 1;
}

static inline int cduplex_ssl_retry_verify(SSL *ssl) { return SSL_set_retry_verify(ssl) == 1; }

// BIOs.

static inline void cduplex_bio_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void cduplex_bio_retry_write(BIO *bio) { BIO_set_retry_write(bio); }
static inline void cduplex_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }

/// What a memory BIO holds.
static inline long cduplex_bio_memory(BIO *bio, const char **bytes) { return BIO_get_mem_data(bio, (char **)bytes); }

// Stacks, whose functions are macros.

static inline int cduplex_certificate_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *cduplex_certificate_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline void cduplex_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

// The names that a certificate is for (RFC 5280 section 4.2.1.6).

static inline GENERAL_NAMES *cduplex_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int cduplex_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

/// One name: its type, and its bytes; NULL for types that aren't names of hosts.
static inline const unsigned char *cduplex_name_at(const GENERAL_NAMES *names, int index, int *type, int *length) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    *type = name->type;
    if (name->type != GEN_DNS && name->type != GEN_IPADD) return NULL;
    const ASN1_STRING *text = name->type == GEN_DNS ? name->d.dNSName : name->d.iPAddress;
    *length = ASN1_STRING_length(text);
    return ASN1_STRING_get0_data(text);
}
static inline void cduplex_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

/// Prints a name as one line of UTF-8, with what could confuse a terminal escaped (RFC 4514).
static inline void cduplex_print_name(BIO *bio, const X509_NAME *name) {
    X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

// Stores of roots.

/// How many certificates and revocation lists are in memory.
static inline int cduplex_store_count(X509_STORE *store) {
    return sk_X509_OBJECT_num(X509_STORE_get0_objects(store));
}

/// A store with the same certificates, that also looks into the system's folder as the first one does; NULL without memory.
static inline X509_STORE *cduplex_store_copy(X509_STORE *store) {
    X509_STORE *copy = X509_STORE_new();
    STACK_OF(X509) *certificates = copy ? X509_STORE_get1_all_certs(store) : NULL;
    X509_LOOKUP *folder = copy ? X509_STORE_add_lookup(copy, X509_LOOKUP_hash_dir()) : NULL;
    int isMade = certificates && folder;
    for (int index = 0; isMade && index < sk_X509_num(certificates); index++) {
        isMade = X509_STORE_add_cert(copy, sk_X509_value(certificates, index));
    }
    sk_X509_pop_free(certificates, X509_free);
    if (isMade) {
        X509_LOOKUP_add_dir(folder, NULL, X509_FILETYPE_DEFAULT);
        return copy;
    }
    X509_STORE_free(copy);
    return NULL;
}

/// Has clients' certificates lead to these roots, and keeps a reference to them.
static inline void cduplex_ctx_set_roots(SSL_CTX *context, X509_STORE *store) {
    SSL_CTX_set1_cert_store(context, store);
}

/// Has the peer's certificate lead to these roots, in place of those of the context.
static inline int cduplex_ssl_set_roots(SSL *ssl, X509_STORE *store) {
    return SSL_set1_verify_cert_store(ssl, store) == 1;
}

// Errors.

static inline int cduplex_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline int cduplex_error_reason(unsigned long code) { return ERR_GET_REASON(code); }

// Making certificates.

/// Adds an extension in the form of openssl-x509v3_config(5); `issuer` is the certificate itself if it has no other.
static inline int cduplex_add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (!extension) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

/// A key pair on the curve P-256.
static inline EVP_PKEY *cduplex_generate_p256(void) { return EVP_EC_gen("P-256"); }

#endif
