// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors
