// Runs those of Hive's controllers that need no cloud, for clusters that are marked as fake.
package main

import (
	"flag"
	"os"

	velerov1 "github.com/heptio/velero/pkg/apis/velero/v1"
	openshiftapiv1 "github.com/openshift/api/config/v1"
	log "github.com/sirupsen/logrus"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	crv1alpha1 "k8s.io/cluster-registry/pkg/apis/clusterregistry/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/openshift/hive/apis"
	"github.com/openshift/hive/pkg/controller/clusterclaim"
	"github.com/openshift/hive/pkg/controller/clusterdeployment"
	"github.com/openshift/hive/pkg/controller/clusterpool"
	"github.com/openshift/hive/pkg/controller/clusterpoolnamespace"
	"github.com/openshift/hive/pkg/controller/clusterprovision"
	"github.com/openshift/hive/pkg/controller/clustersync"
	"github.com/openshift/hive/pkg/controller/hibernation"
	"github.com/openshift/hive/pkg/controller/unreachable"
	utillogrus "github.com/openshift/hive/pkg/util/logrus"
)

// Never clusterdeprovision: it calls the cloud for fake clusters, too.
var controllers = []func(manager.Manager) error{
	clusterpool.Add,
	clusterclaim.Add,
	clusterdeployment.Add,
	clusterpoolnamespace.Add,
	clusterprovision.Add,
	clustersync.Add,
	hibernation.Add,
	unreachable.Add,
}

var kinds = []func(*runtime.Scheme) error{
	apis.AddToScheme,
	openshiftapiv1.Install,
	apiextv1.AddToScheme,
	crv1alpha1.AddToScheme,
	velerov1.AddToScheme,
}

func run() error {
	cfg, err := config.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := manager.New(cfg, manager.Options{
		MetricsBindAddress: "0",
		Logger:             utillogrus.NewLogr(log.StandardLogger()),
	})
	if err != nil {
		return err
	}
	for _, add := range kinds {
		if err := add(mgr.GetScheme()); err != nil {
			return err
		}
	}
	for _, add := range controllers {
		if err := add(mgr); err != nil {
			return err
		}
	}
	return mgr.Start(signals.SetupSignalHandler())
}

func main() {
	flag.Parse()
	if err := run(); err != nil {
		log.Error(err)
		os.Exit(1)
	}
}
