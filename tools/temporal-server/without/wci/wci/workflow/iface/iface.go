package iface

import (
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
)

const ValidationResultFailed = "failed"

type (
	Instance struct {
		Spec             *WorkerControllerInstanceSpec
		ValidationStatus *ValidationStatus
	}
	WorkerControllerInstanceSpec struct{ ScalingGroupSpecs map[string]ScalingGroupSpec }
	ScalingGroupSpecUpdate       struct {
		Spec       ScalingGroupSpec
		UpdateMask []string
	}
	ScalingGroupSpec struct {
		TaskTypes []enums.TaskQueueType
		Compute   ComputeProviderSpec
		Scaling   *ScalingAlgorithmSpec
	}
	ComputeProviderSpec struct {
		ProviderType  ComputeProviderType
		Config        *common.Payload
		NexusEndpoint string
	}
	ScalingAlgorithmSpec struct {
		ScalingAlgorithm ScalingAlgorithmType
		Config           *common.Payload
	}
	ComputeProviderType  string
	ScalingAlgorithmType string
	ValidationStatus     struct {
		LastValidationTime time.Time
		Status, ErrMessage string
	}
)
