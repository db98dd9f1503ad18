//go:build programs

// Package program pins the program that scripts/helm-program builds. Nothing else uses it.
package program

import (
	_ "helm.sh/helm/v4/cmd/helm"
)
